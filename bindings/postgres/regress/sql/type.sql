-- The type: text and bytes in and out, casts, comparisons, storage.
CREATE TABLE sketches (name text, sketch legosketch);
INSERT INTO sketches SELECT 'plain', lego_agg(g % 100, 65536) FROM generate_series(1, 10000) g;
INSERT INTO sketches SELECT 'other', lego_agg(g % 50, 65536) FROM generate_series(1, 10000) g;
INSERT INTO sketches SELECT 'top', lego_top_agg(g % 100, 65536) FROM generate_series(1, 10000) g;
INSERT INTO sketches SELECT model, lego_agg(g % 100, 1, 1 << 18, 7, model)
    FROM generate_series(1, 10000) g, unnest('{compact, paper}'::text[]) model GROUP BY model ORDER BY model;

-- Text is \x and hexadecimal digits, whatever bytea_output says.
SELECT name, left(sketch::text, 18), sketch::text::legosketch = sketch AS same FROM sketches;
SET bytea_output = escape;
SELECT name, left(sketch::text, 18), sketch::text::legosketch = sketch AS same FROM sketches WHERE name = 'plain';
RESET bytea_output;
SELECT upper(substr(sketch::text, 3)) ~ '^[0-9A-F]+$' AS digits,
    ('\x' || upper(substr(sketch::text, 3)))::legosketch = sketch AS same
    FROM sketches WHERE name = 'plain';

-- Bytes are those that the library saves.
SELECT name, encode(substr(sketch::bytea, 1, 8), 'escape') AS magic, sketch::bytea::legosketch = sketch AS same,
       legosketch(sketch::bytea) = sketch AS also FROM sketches;
CREATE TABLE raw (bytes bytea);
INSERT INTO raw SELECT sketch FROM sketches; -- by assignment, both ways
INSERT INTO sketches (name, sketch) SELECT 'again', bytes FROM raw LIMIT 1;
SELECT count(*) FROM sketches WHERE sketch = (SELECT sketch FROM sketches WHERE name = 'plain');
SELECT length(sketch) FROM sketches; -- no cast happens unasked

-- Comparisons are by bytes; they hash.
SELECT a.name, b.name FROM sketches a JOIN sketches b ON a.sketch = b.sketch WHERE a.name < b.name;
SELECT count(*) FROM sketches a JOIN sketches b ON a.sketch <> b.sketch;
SELECT count(*) FROM (SELECT DISTINCT sketch FROM sketches) s;
SELECT count(*) FROM (SELECT sketch FROM sketches GROUP BY sketch) s;
CREATE INDEX ON sketches USING hash (sketch);
SET enable_seqscan = off;
SELECT name FROM sketches WHERE sketch = (SELECT bytes::legosketch FROM raw LIMIT 1) ORDER BY name;
RESET enable_seqscan;

-- A sketch of few items is small, whatever its budget.
SELECT octet_length(sketch::bytea) < 4096 AS small, (lego_info(sketch)->'budget')::int > 60000 AS large FROM sketches
    WHERE name = 'plain';

DROP TABLE sketches, raw;
