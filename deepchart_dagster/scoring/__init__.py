"""Scores that can be trusted (design: metrics).

tables       references as JSON, CSV or markdown tables
matching     exact maximum one-to-one matching within 1e-4 relative tolerance
fidelity     F1_src and F1_der: precision, recall, F1
upstream     the published harness's rules, for comparison
diagnosis    why an unmatched value did not match
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
