{# Rows whose value lies outside [low, high]; null is no value. #}
{% test accepted_range(model, column_name, low=0, high=1) %}

select {{ column_name }}
from {{ model }}
where {{ column_name }} < {{ low }} or {{ column_name }} > {{ high }}

{% endtest %}
