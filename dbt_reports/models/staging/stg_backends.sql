with

source as (

    select * from {{ source('pipeline', 'backends') }}

),

judged as (

    select
        benchmark,
        model,
        backend,
        split,
        uid,

        model_name,
        family,
        scripted,
        judge,
        judge_scripted,

        chosen_backend,
        status,
        executed is not null as is_scored,
        status = 'failed' as is_failed,
        status = 'error' as is_error,
        executed,
        vas,

        input_key

    from source

)

select * from judged
