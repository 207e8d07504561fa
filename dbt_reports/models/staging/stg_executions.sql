with

source as (

    select * from {{ source('pipeline', 'executions') }}

),

renamed as (

    select
        benchmark,
        model,
        split,
        uid,
        stage,

        model_name,
        family,
        scripted,
        domain,
        backend,
        tier,

        status,
        problem_kind,
        wall_s,
        cpu_s,
        max_rss_mb,
        seconds as instance_s,

        input_key

    from source

)

select * from renamed
