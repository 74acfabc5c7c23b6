"""Many models or cases in processes of their own, here or on a cluster; a state file records what is done."""
