{% set metrics = ['er', 'f1_src', 'f1_der', 'vas'] %}

with

scores as (

    select * from {{ ref('stg_scores') }}

),

aggregated as (

    select
        benchmark,
        model,
        split,

        min(model_name) as model_name,
        min(family) as family,
        bool_or(scripted) as scripted,
        min(selection) as selection,
        string_agg(distinct judge, ', ' order by judge) as judge,
        coalesce(bool_or(judge_scripted), false) as judge_scripted

        {%- for metric in metrics %},

        avg(value) filter (where metric = '{{ metric }}' and is_scored) as {{ metric }}_value,
        count(*) filter (where metric = '{{ metric }}') as {{ metric }}_n_total,
        count(*) filter (where metric = '{{ metric }}' and is_scored) as {{ metric }}_n_scored,
        count(*) filter (where metric = '{{ metric }}' and is_failed) as {{ metric }}_n_failed,
        count(*) filter (where metric = '{{ metric }}' and is_error) as {{ metric }}_n_error
        {%- endfor %}

    from scores
    group by benchmark, model, split

),

final as (

    select
        *,
        concat_ws('/', benchmark, model, split) as leaderboard_key
    from aggregated

)

select * from final
