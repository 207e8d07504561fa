with

counted as (

    select * from {{ ref('stg_diagnoses') }}

),

aggregated as (

    select
        benchmark,
        model,
        split,
        side,
        diagnosis_class,

        min(model_name) as model_name,
        min(family) as family,
        bool_or(scripted) as scripted,

        coalesce(sum(n_values) filter (where value_of = 'reference'), 0)::bigint as n_reference,
        coalesce(sum(n_values) filter (where value_of = 'prediction'), 0)::bigint as n_predicted,
        count(distinct uid) as n_instances

    from counted
    group by benchmark, model, split, side, diagnosis_class

),

final as (

    select
        concat_ws('/', benchmark, model, split, side, diagnosis_class) as diagnosis_classes_key,
        *
    from aggregated

)

select * from final
