{# Rows for which a condition is not true. #}
{% test holds(model, condition) %}

select *
from {{ model }}
where ({{ condition }}) is not true

{% endtest %}
