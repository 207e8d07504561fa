{% set metrics = ['er', 'f1_src', 'f1_der', 'vas'] %}

with

leaderboard as (

    select * from {{ ref('leaderboard') }}

),

ours as (

    select
        benchmark,
        split,
        scripted,
        count(*) as n_models

        {%- for metric in metrics %},
        avg({{ metric }}_value) as {{ metric }}_value
        {%- endfor %}

    from leaderboard
    group by benchmark, split, scripted

),

paper as (

    select
        split,
        count(*) as paper_n_models

        {%- for metric in metrics %},
        avg({{ metric }}) as paper_{{ metric }}
        {%- endfor %}

    from {{ ref('paper_main_results') }}
    group by split

),

final as (

    select
        concat_ws('/', ours.benchmark, ours.split, if(ours.scripted, 'scripted', 'models')) as model_averages_key,
        ours.*,
        paper.* exclude (split)
    from ours
    left join paper on ours.split = paper.split

)

select * from final
