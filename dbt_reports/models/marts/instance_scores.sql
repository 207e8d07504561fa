{% set metrics = ['er', 'f1_src', 'f1_der', 'f1_drawn', 'f1_drawn_reference', 'grounding', 'vas'] %}

with

scores as (

    select * from {{ ref('stg_scores') }}

),

pivoted as (

    select
        concat_ws('/', benchmark, model, split, uid) as instance_scores_key,
        benchmark,
        model,
        split,
        uid,

        min(model_name) as model_name,
        min(family) as family,
        bool_or(scripted) as scripted

        {%- for metric in metrics %},
        max(value) filter (where metric = '{{ metric }}' and is_scored) as {{ metric }}
        {%- endfor %}

    from scores
    group by benchmark, model, split, uid

)

select * from pivoted
