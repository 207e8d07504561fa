"""PDF -> pages -> markdown -> context variants -> what a model is given.

model        pages, contexts and model inputs as values
words        words with boxes, their rows and phrases
tables       rows -> tables: labels, columns, headers over their columns
layout       a page's words -> lines of markdown with HTML tables
figures      text inside figures, told apart
engines      text-layer, rapidocr: one interface, routed per page
child        the process that touches PDFs; children: its parent's side; pdf: PyMuPDF as it is used there
reading      all pages of a PDF through children; readings: what comes back
statements   the three statements of a 10-K filing, found jointly
metadata     what a PDF says of itself (title, registrant, year); front: its first pages, in the child
inbox        PDFs that are put into a folder, registered
ocr          raw_documents and ocr_contexts
loaded       an ocr context read back; show: what there is to say of it
filings      which filings a query needs and what is shown of them
papers       a paper's text with a chart's data in the chart's place
chunks       report pages as image chunks; mosaic: their grid
provenance   where each line of a context comes from; drafts: a context while it is put together
written      numbers as a text writes them, and the values they can stand for
locate       where a number stands; pictures: fingerprints of pictures, pages with a frame drawn on them
answerability  what a context lacks and what it gives away; quality: how well a document was read
variants     the paper's context variants for each split
tokens       counting tokens offline
model_input  context within a model's budget
"""
