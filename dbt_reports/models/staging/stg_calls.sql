with

source as (

    select * from {{ source('pipeline', 'calls') }}

),

typed as (

    select
        cast(time as timestamp) as ended_at,
        key as request_key,
        attempt,

        model,
        litellm_model,
        scripted,
        purpose,

        status,
        status = 'cached' as is_cached,
        error as error_kind,
        http_status,
        finish_reason,

        input_tokens,
        output_tokens,
        price_usd,
        seconds

    from source

)

select * from typed
