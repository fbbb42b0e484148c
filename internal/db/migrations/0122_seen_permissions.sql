-- What the page listed of a GitHub App's permissions when a person allowed the device's request, as in apps: its token gets
-- no others.
ALTER TABLE device_requests ADD COLUMN permissions {{text}} NOT NULL DEFAULT '';
