"""Laws by which a read that looks order-sensitive is none; each names the listing that needs it."""
