{% set metrics = ['er', 'f1_src', 'f1_der', 'vas'] %}

with

leaderboard as (

    select * from {{ ref('leaderboard') }}

),

paper as (

    select * from {{ ref('paper_main_results') }}

),

cells as (

    {%- for metric in metrics %}

    select
        benchmark,
        model,
        split,
        model_name,
        '{{ metric }}' as metric,
        {{ metric }}_value as value,
        {{ metric }}_n_scored as n_scored
    from leaderboard
    {%- if not loop.last %}
    union all
    {%- endif %}
    {%- endfor %}

),

published as (

    {%- for metric in metrics %}

    select
        model as model_name,
        split,
        '{{ metric }}' as metric,
        {{ metric }} as paper_value,
        n as paper_n
    from paper
    {%- if not loop.last %}
    union all
    {%- endif %}
    {%- endfor %}

),

final as (

    select
        concat_ws('/', cells.benchmark, cells.model, cells.split, cells.metric) as paper_comparison_key,
        cells.benchmark,
        cells.model,
        cells.split,
        cells.metric,
        cells.value,
        cells.n_scored,
        published.paper_value,
        published.paper_n,
        cells.value - published.paper_value as difference
    from cells
    inner join published
        on lower(cells.model_name) = lower(published.model_name)
        and cells.split = published.split
        and cells.metric = published.metric

)

select * from final
