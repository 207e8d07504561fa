with

source as (

    select * from {{ source('pipeline', 'scores') }}

),

judged as (

    select
        benchmark,
        model,
        split,
        uid,
        metric,

        model_name,
        family,
        scripted,
        domain,
        query_type,
        chart_family,
        selection,
        backend,
        judge,
        judge_scripted,

        status,
        status in ('ok', 'failed') as is_scored,
        status = 'failed' as is_failed,
        status = 'error' as is_error,
        problem_kind,
        value,

        metric_version,
        yardstick,
        input_key

    from source

)

select * from judged
