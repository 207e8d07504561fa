with

scores as (

    select *
    from {{ ref('stg_scores') }}
    where is_scored and yardstick is not null

),

per_instance as (

    select
        benchmark,
        split,
        metric,
        uid,
        count(distinct yardstick) as n_yardsticks
    from scores
    group by benchmark, split, metric, uid

),

final as (

    select
        concat_ws('/', benchmark, split, metric) as yardsticks_key,
        benchmark,
        split,
        metric,
        count(*) as n_instances,
        count(*) filter (where n_yardsticks > 1) as n_mixed
    from per_instance
    group by benchmark, split, metric

)

select * from final
