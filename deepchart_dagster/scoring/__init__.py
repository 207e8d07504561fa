"""Scores that can be trusted (design: metrics).

tables       references as JSON, CSV or markdown tables
matching     exact maximum one-to-one matching within 1e-4 relative tolerance
fidelity     F1_src and F1_der: precision, recall, F1
upstream     the published harness's rules, for comparison
diagnosis    why an unmatched value did not match: classes and their order
labelled, alignment, misplaced, context_cells, statistics_named
             what the diagnosis knows of values: names, places, cells of the context, statistics
diagnosing   the diagnosis of stored states
grounding    which predicted source values stand in the context that was given (given)
drawn_fidelity, drawn_values
             F1_drawn: what a chart draws against its data
reference_faults
             references that disagree with themselves or with their documents
references   reference data and charts, copied or executed
rubrics      yes/no questions a query, written once from the reference chart
rubric_writing
             one aspect: asked, read, checked on the reference chart, replaced
judge        one question and one chart a call
visual       VAS
execution    ER
metered      what the calls of one instance took
score_file   one predicted state against reference files
"""
