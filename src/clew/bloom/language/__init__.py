"""What users write: classes, collections, and the rules that a block records when it is executed."""
