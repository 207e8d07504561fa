"""The two model stages of the paper (appendix B.1).

prompts   versioned prompt files and their hashes; a user's own set from a folder
answers   format-level clean-up of an answer: which code block counts
states    stage 1: context and intent -> program -> J (predicted_states)
charts    stage 2: J and intent -> chart program -> image (rendered_charts)
"""
