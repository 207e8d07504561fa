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

per_metric as (

    select
        benchmark,
        split,
        metric,
        count(distinct metric_version) as n_rules
    from scores
    group by benchmark, split, metric

),

final as (

    select
        concat_ws('/', benchmark, split, metric) as yardsticks_key,
        benchmark,
        split,
        metric,
        count(*) as n_instances,
        count(*) filter (where n_yardsticks > 1) as n_mixed,
        min(n_rules) as n_rules
    from per_instance
    inner join per_metric using (benchmark, split, metric)
    group by benchmark, split, metric

)

select * from final
