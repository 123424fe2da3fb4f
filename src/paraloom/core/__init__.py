"""The ground every other room stands on: schemas, protocols, readers and writers, text, errors."""
