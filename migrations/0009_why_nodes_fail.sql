-- why: the message of the last entry of `errors`, in a column of its own, so that nobody reads it out of JSON.
ALTER TABLE node ADD COLUMN why TEXT;
UPDATE node SET why = json_extract(errors, '$[#-1].message') WHERE json_valid(errors);
