"""Transactions that append to lists and read them: is there an order in which they could have run one by one?"""
