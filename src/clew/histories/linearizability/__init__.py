"""Is there an order of the operations, each between its call and its answer, that the model allows?"""
