-- Secret seeds: the setting, what shows them, the table that has them. The other tests have the setting off.
SHOW legosketch.secret_seeds;
SET legosketch.secret_seeds = on;
CREATE TABLE s AS SELECT lego_agg(g % 100, 65536) AS sketch, lego_top_agg('w' || g % 7, 65536) AS top,
    lego_agg(g % 100, 1, 65536, 0) AS public FROM generate_series(1, 1000) g;
SELECT lego_info(sketch)->>'seed' = 'secret:' || fingerprint AS shown, lego_info(top)->'seed' = lego_info(sketch)->'seed' AS top,
    lego_info(public)->'seed' AS public, sketch = public AS same FROM s, lego_secrets;
SELECT lego_secret_fingerprint(secret) = fingerprint AS fingerprint, length(fingerprint), octet_length(secret) FROM lego_secrets;
SELECT lego_secret_fingerprint('\x000102030405060708090a0b0c0d0e0f');

-- Everything works with it, and what is made without a seed goes together.
SELECT lego_estimate(sketch, 5), lego_total(sketch + lego_add(NULL, 5) + lego_add(lego_empty(), 5)),
    lego_total(sketch - sketch), lego_distinct(lego_fold_within(sketch, '40kB')) AS fold, lego_info(lego_fold_within(sketch, '40kB'))->'seed'
    = lego_info(sketch)->'seed' AS seed, sketch::bytea::legosketch = sketch AS cast, sketch::text::legosketch = sketch AS text
    FROM s;
SELECT item, estimate FROM s, lego_top_text(top, 2);
SELECT lego_total(lego_merge_agg(sketch)), lego_estimates(lego_merge_agg(top), '{w1,w2}'::text[]) FROM s, generate_series(1, 3);
SELECT bool_and(lego_estimate(m, g) = 1) FROM (SELECT g, lego_agg(g, 65536) OVER (ORDER BY g ROWS 3 PRECEDING) AS m
    FROM generate_series(1, 20) g) t;

-- A null seed is none; a seed is public.
SELECT lego_info(lego_agg(1, 1, 65536, NULL, 'paper'))->'seed' = lego_info(lego_empty())->'seed' AS paper,
    lego_info(lego_empty(seed => 0))->'seed' AS zero, lego_info(lego_agg(1, 1, 65536, 7))->'seed' AS seven,
    lego_empty(NULL::bigint) IS NULL AS budget, lego_empty(model => NULL) IS NULL AS model, lego_empty(top => NULL) IS NULL AS top;
SELECT lego_agg(g, 1, 65536, CASE g WHEN 1 THEN 0 END) FROM generate_series(1, 3) g;
SELECT sketch + public FROM s;
SET legosketch.secret_seeds = off;
SELECT lego_agg(g % 100, 65536) = (SELECT public FROM s) AS public FROM generate_series(1, 1000) g;
SELECT lego_info(lego_empty())->'seed' AS empty, lego_info(lego_add(NULL, 1))->'seed' AS add, lego_total(sketch) FROM s;
SET legosketch.secret_seeds = on;

-- Plans that are kept do not keep the setting, or the secret.
PREPARE made AS SELECT lego_info(lego_empty())->>'seed' ~ 'secret' AS empty, lego_info(lego_add(NULL, 1))->>'seed' ~ 'secret' AS add,
    lego_info(lego_agg(1))->>'seed' ~ 'secret' AS agg;
EXECUTE made; EXECUTE made; EXECUTE made; EXECUTE made; EXECUTE made; EXECUTE made;
SET legosketch.secret_seeds = off;
EXECUTE made;
SET legosketch.secret_seeds = on;

-- What comes from elsewhere asks for its secret: an INSERT, in whatever transaction, is seen at once, and so is its end.
BEGIN;
INSERT INTO lego_secrets VALUES ('\x000102030405060708090a0b0c0d0e0f', '-infinity');
CREATE TABLE t AS SELECT lego_agg(1, 65536) AS sketch;
SELECT lego_info(sketch)->'seed' AS inserted, lego_estimate(sketch, 1) FROM t;
SAVEPOINT before;
DELETE FROM lego_secrets WHERE made = '-infinity';
SELECT lego_estimate(sketch, 1) FROM t;
ROLLBACK TO before;
SELECT lego_estimate(sketch, 1) FROM t;
DELETE FROM lego_secrets WHERE made = '-infinity';
COMMIT;
SELECT lego_estimate(sketch, 1) FROM t;
SELECT lego_add(sketch, 1) FROM t;
SELECT lego_merge_agg(sketch) FROM t;
SELECT sketch::bytea::legosketch FROM t;
SELECT sketch + lego_empty('64kB') FROM t;
SELECT lego_top(sketch) FROM t;
-- Text takes it, as a dump may have it before its secret; what is damaged is refused all the same.
CREATE TABLE u AS SELECT sketch::text::legosketch AS sketch FROM t;
SELECT u.sketch = t.sketch AS same FROM t, u;
SELECT encode(set_byte(sketch::bytea, 80, 1), 'hex') AS damaged, encode(set_byte(sketch::bytea, 14, 2), 'hex') AS flag FROM t \gset
SELECT ('\x' || :'damaged')::legosketch;
SELECT ('\x' || :'flag')::legosketch;
INSERT INTO lego_secrets VALUES ('\x000102030405060708090a0b0c0d0e0f');
SELECT lego_estimate(sketch, 1), sketch::bytea::legosketch = sketch AS cast FROM u;

-- Several are known; the oldest is what new ones get, twice or not.
SELECT lego_info(lego_empty())->>'seed' = 'secret:' || fingerprint AS oldest FROM lego_secrets ORDER BY made LIMIT 1;
INSERT INTO lego_secrets VALUES ('\x000102030405060708090a0b0c0d0e0f', '2000-01-01');
SELECT lego_total(lego_empty('64kB') + sketch) FROM t;
UPDATE lego_secrets SET made = 'infinity' WHERE made = '2000-01-01';
SELECT lego_total(lego_empty('64kB') + sketch) FROM t;
DELETE FROM lego_secrets WHERE fingerprint = lego_secret_fingerprint('\x000102030405060708090a0b0c0d0e0f');

-- Not secrets.
INSERT INTO lego_secrets VALUES ('\x00');
INSERT INTO lego_secrets VALUES ('\x01010101010101010000000000000000');
\set VERBOSITY terse
INSERT INTO lego_secrets VALUES (NULL);
\set VERBOSITY default
INSERT INTO lego_secrets VALUES (decode(repeat('01', 17), 'hex'));

-- Nobody sees them who does not own them, whatever is granted; everybody counts with them.
CREATE ROLE lego_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO lego_reader;
SET ROLE lego_reader;
SELECT count(*) AS seen FROM lego_secrets;
SELECT lego_estimate(sketch, 5), lego_total(sketch + lego_add(lego_empty('64kB'), 5)) FROM s;
SELECT legosketch_secrets_changed();
RESET ROLE;
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM lego_reader;
DROP ROLE lego_reader;

-- Without any, or without the table, new sketches say what is missing; those with a public seed do not ask.
BEGIN;
DELETE FROM lego_secrets;
SAVEPOINT none;
SELECT lego_empty();
ROLLBACK TO none;
SELECT lego_total(lego_empty(seed => 0)), lego_total(public) FROM s;
ROLLBACK;
BEGIN;
ALTER TABLE lego_secrets RENAME TO elsewhere;
SELECT lego_empty();
ROLLBACK;
BEGIN;
ALTER TABLE lego_secrets RENAME TO elsewhere;
CREATE VIEW lego_secrets AS SELECT * FROM elsewhere;
SELECT lego_empty();
ROLLBACK;
BEGIN;
ALTER TABLE lego_secrets RENAME made TO date;
SELECT lego_empty();
ROLLBACK;

-- In parallel workers, and where nothing may be written.
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
CREATE TABLE rows AS SELECT g % 1000 AS number FROM generate_series(1, 20000) g;
ALTER TABLE rows SET (parallel_workers = 2);
ANALYZE rows;
BEGIN READ ONLY;
EXPLAIN (COSTS OFF) SELECT lego_agg(number, 65536) FROM rows;
SELECT lego_estimate(a, 5), lego_info(a)->>'seed' ~ 'secret' AS secret FROM (SELECT lego_agg(number, 65536) AS a FROM rows) t;
COMMIT;
SET parallel_leader_participation = off;
SELECT count(*) FROM rows WHERE lego_estimate((SELECT lego_agg(number, 65536) FROM rows), number) = 20;
DROP TABLE s, t, u, rows;
