"""One step of one node: rules evaluated to their fixpoint over what the node stores."""
