"""What a comparison needs between the database and the tests: pairs, their sums, outcomes and verdicts."""
