"""What pretraining buys: every variant on the course's own task, from files alone."""
