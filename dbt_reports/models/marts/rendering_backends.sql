with

charts as (

    select * from {{ ref('stg_backends') }}

),

per_setting as (

    select
        benchmark,
        model,
        backend,
        split,

        min(model_name) as model_name,
        min(family) as family,
        bool_or(scripted) as scripted,
        string_agg(distinct judge, ', ' order by judge) as judge,
        coalesce(bool_or(judge_scripted), false) as judge_scripted,

        avg(executed) as er_value,
        avg(vas) as vas_value,
        count(*) as n_total,
        count(executed) as n_scored,
        count(*) filter (where is_failed) as n_failed,
        count(*) filter (where is_error) as n_error,
        count(*) filter (where chosen_backend = 'python') as n_python,
        count(*) filter (where chosen_backend = 'html') as n_html

    from charts
    group by benchmark, model, backend, split

),

averaged as (

    select
        benchmark,
        model,
        backend,

        min(model_name) as model_name,
        min(family) as family,
        bool_or(scripted) as scripted,
        min(judge) as judge,
        bool_or(judge_scripted) as judge_scripted,

        avg(er_value) as er_value,
        avg(vas_value) as vas_value,
        count(*) as n_settings,
        sum(n_total)::bigint as n_total,
        sum(n_scored)::bigint as n_scored,
        sum(n_failed)::bigint as n_failed,
        sum(n_error)::bigint as n_error,
        sum(n_python)::bigint as n_python,
        sum(n_html)::bigint as n_html

    from per_setting
    group by benchmark, model, backend

),

final as (

    select
        *,
        concat_ws('/', benchmark, model, backend) as rendering_backends_key
    from averaged

)

select * from final
