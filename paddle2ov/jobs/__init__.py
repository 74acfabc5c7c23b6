"""Many models or cases in processes of their own, here or on a cluster; what is done stands in a state file."""
