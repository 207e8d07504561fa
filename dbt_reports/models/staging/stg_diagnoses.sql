with

source as (

    select * from {{ source('pipeline', 'diagnoses') }}

),

renamed as (

    select
        benchmark,
        model,
        split,
        uid,
        side,
        value_of,
        class as diagnosis_class,

        model_name,
        family,
        scripted,
        selection,

        n as n_values,

        input_key

    from source

)

select * from renamed
