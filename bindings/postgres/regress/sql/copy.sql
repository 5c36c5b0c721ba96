-- COPY out and in, as text and as binary: equal bytes.
CREATE TABLE a (name text, sketch legosketch);
INSERT INTO a SELECT 'plain', lego_agg(g % 100, 65536) FROM generate_series(1, 10000) g;
INSERT INTO a SELECT 'top', lego_top_agg('w' || g % 100, 65536) FROM generate_series(1, 10000) g;
INSERT INTO a SELECT 'paper', lego_agg(g % 100, 1, 1 << 18, 7, 'paper') FROM generate_series(1, 10000) g;
INSERT INTO a VALUES ('null', NULL);
CREATE TABLE b (LIKE a);
\copy a TO 'results/copy.text'
\copy b FROM 'results/copy.text'
SELECT name, a.sketch = b.sketch AS same FROM a JOIN b USING (name);
TRUNCATE b;
\copy a TO 'results/copy.binary' (FORMAT binary)
\copy b FROM 'results/copy.binary' (FORMAT binary)
SELECT name, a.sketch = b.sketch AS same FROM a JOIN b USING (name);
DROP TABLE a, b;
