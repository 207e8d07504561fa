"""PDF -> pages -> markdown -> context variants -> what a model is given.

model        pages, contexts and model inputs as values
engines      text-layer, rapidocr, …: one interface, routed per page
layout       words -> rows -> tables -> markdown with HTML tables
statements   the three statements of a 10-K filing, found jointly
ocr          a document's context: pages in child processes, checkpoints, summary
variants     the paper's context variants for each split
chunks       report pages as image chunks
model_input  context within a model's budget
"""
