"""Keeps the dynamic partitions in line with models.yaml and the registered documents."""

import dagster as dg

from deepchart_dagster import partitions
from deepchart_dagster.partitions import DOCUMENTS_NAME, MODELS_NAME
from resources import ModelsResource, StorageResource, open_workbench


@dg.sensor(
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Adds models of models.yaml and registered documents as partitions; removed ones keep their results.",
)
def partitions_in_line(
    context: dg.SensorEvaluationContext, storage: StorageResource, models: ModelsResource
) -> dg.SensorResult | dg.SkipReason:
    with open_workbench(storage, models) as bench:
        wanted = {
            MODELS_NAME: list(bench.models),
            DOCUMENTS_NAME: [document.id for document in bench.documents.list()],
        }
    requests: list[dg.AddDynamicPartitionsRequest | dg.DeleteDynamicPartitionsRequest] = []
    for definition in (partitions.models, partitions.documents):
        name = str(definition.name)
        present = set(context.instance.get_dynamic_partitions(name))
        if added := [key for key in wanted[name] if key not in present]:
            requests.append(definition.build_add_request(added))
        if removed := sorted(present - set(wanted[name])):
            requests.append(definition.build_delete_request(removed))
    if not requests:
        return dg.SkipReason("Partitions are in line with models.yaml and the registered documents.")
    return dg.SensorResult(dynamic_partitions_requests=requests)
