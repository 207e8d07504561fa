"""Dynamic partitions in line with models.yaml, judges.yaml and the documents; PDFs in the inbox registered."""

import dagster as dg

from deepchart_dagster import partitions
from deepchart_dagster.partitions import DOCUMENTS_NAME, JUDGES_NAME, MODELS_NAME
from resources import ModelsResource, StorageResource, open_workbench


@dg.sensor(
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Adds models of models.yaml, judges of judges.yaml and registered documents as partitions; "
    "removed ones keep their results.",
)
def partitions_in_line(
    context: dg.SensorEvaluationContext, storage: StorageResource, models: ModelsResource
) -> dg.SensorResult | dg.SkipReason:
    with open_workbench(storage, models) as bench:
        wanted = {
            MODELS_NAME: list(bench.models),
            JUDGES_NAME: list(bench.judges.judges),
            DOCUMENTS_NAME: [document.id for document in bench.documents.list()],
        }
    requests: list[dg.AddDynamicPartitionsRequest | dg.DeleteDynamicPartitionsRequest] = []
    for definition in (partitions.models, partitions.judges, partitions.documents):
        name = str(definition.name)
        present = set(context.instance.get_dynamic_partitions(name))
        if added := [key for key in wanted[name] if key not in present]:
            requests.append(definition.build_add_request(added))
        if removed := sorted(present - set(wanted[name])):
            requests.append(definition.build_delete_request(removed))
    if not requests:
        return dg.SkipReason("Partitions are in line with models.yaml, judges.yaml and the registered documents.")
    words = [
        f"{request.partitions_def_name}: {'+' if isinstance(request, dg.AddDynamicPartitionsRequest) else '-'} "
        f"{', '.join(request.partition_keys)}"
        for request in requests
    ]
    return dg.SensorResult(skip_reason=dg.SkipReason("; ".join(words)), dynamic_partitions_requests=requests)


@dg.sensor(
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.STOPPED,
    description="Registers the PDFs that lie in the storage's inbox and adds them as partitions.",
)
def documents_inbox(context: dg.SensorEvaluationContext, storage: StorageResource) -> dg.SensorResult | dg.SkipReason:
    with open_workbench(storage) as bench:
        look = bench.inbox().look()
    for one in look.refused:
        context.log.warning(f"{one.file}: {one.reason}")
    present = set(context.instance.get_dynamic_partitions(DOCUMENTS_NAME))
    added = sorted({one.document.id for one in look.registered} - present)
    if not added:
        return dg.SkipReason(look.in_words())
    return dg.SensorResult(
        skip_reason=dg.SkipReason(look.in_words()),  # shown of the tick
        dynamic_partitions_requests=[partitions.documents.build_add_request(added)],
    )
