-- Several workers: a requirement may be written by another worker than the one that numbers
-- the run's events.

ALTER TABLE requirements ADD COLUMN announced boolean NOT NULL DEFAULT false;
