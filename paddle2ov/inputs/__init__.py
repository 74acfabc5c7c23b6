"""What models are run on: the user's arrays and pictures, else random inputs of sizes that fit each other."""
