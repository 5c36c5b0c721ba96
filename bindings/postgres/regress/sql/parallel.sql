-- Parallel aggregation: the plan, and, while there is room for all items, the same bytes as one process gives.
CREATE TABLE rows AS SELECT g * g % 9973 AS number, 'word ' || g * g % 4999 AS word, (g % 3)::int AS grp
    FROM generate_series(1, 100000::bigint) g;
ALTER TABLE rows SET (parallel_workers = 2);
ANALYZE rows;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE serial AS SELECT lego_agg(number, 65536) AS numbers, lego_agg(word, 2, 65536) AS words FROM rows;
CREATE TABLE serial_groups AS SELECT grp, lego_agg(number, 1 << 18) AS numbers FROM rows GROUP BY grp;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT lego_agg(number, 65536), lego_agg(word, 2, 65536) FROM rows;
SELECT p.numbers = s.numbers AS numbers, p.words = s.words AS words, lego_total(p.numbers)
    FROM serial s, (SELECT lego_agg(number, 65536) AS numbers, lego_agg(word, 2, 65536) AS words FROM rows) p;
EXPLAIN (COSTS OFF) SELECT grp, lego_agg(number, 1 << 18) AS numbers FROM rows GROUP BY grp;
SELECT count(*) FROM serial_groups s JOIN (SELECT grp, lego_agg(number, 1 << 18) AS numbers FROM rows
    GROUP BY grp) p USING (grp, numbers);

-- With too little room for all items, bytes are those of the processes that took part; totals and bounds hold.
SELECT lego_total(s), count(*) FILTER (WHERE upper < n) AS above, count(*) FILTER (WHERE likely < n) <= 0.01 * count(*) AS likely,
    count(*) FILTER (WHERE lower > n) <= 0.01 * count(*) AS lower
    FROM (SELECT lego_agg(number, 4096) AS s FROM rows) p, (SELECT number, count(*) AS n FROM rows GROUP BY number) r,
    LATERAL lego_bounds(s, number) GROUP BY s;

-- The leader alone, workers alone, and workers that find no rows.
SET parallel_leader_participation = off;
SELECT p.numbers = s.numbers AS numbers FROM serial s, (SELECT lego_agg(number, 65536) AS numbers FROM rows) p;
RESET parallel_leader_participation;
EXPLAIN (COSTS OFF) SELECT lego_agg(number, 65536) FROM rows WHERE grp = 7;
SELECT lego_agg(number, 65536) IS NULL AS nothing FROM rows WHERE grp = 7;
SELECT lego_total(lego_agg(number, 65536)) FROM rows WHERE number = 1 AND grp = 1;

-- Of sketches; their shapes may differ there.
CREATE TABLE sketches AS SELECT word,
    lego_fold_within(lego_agg(number, 65536), CASE WHEN word < 'word 2' THEN 40000 ELSE 65536 END) AS sketch
    FROM rows WHERE number < 200 GROUP BY word;
ALTER TABLE sketches SET (parallel_workers = 2);
ANALYZE sketches;
EXPLAIN (COSTS OFF) SELECT lego_merge_agg(sketch) FROM sketches;
SELECT lego_total(lego_merge_agg(sketch)) FROM sketches;
SELECT count(*) FROM rows WHERE number < 200;

-- Of the most frequent items: which rows a worker gets is chance, so only what does not depend on it.
EXPLAIN (COSTS OFF) SELECT lego_top_agg(number, 65536) FROM rows;
SELECT lego_total(s), bool_and(upper >= n) AS upper FROM (SELECT lego_top_agg(number, 65536) AS s FROM rows) a,
    LATERAL lego_top_int(s) t
    JOIN (SELECT number, count(*) AS n FROM rows GROUP BY number) r ON number = item GROUP BY s;

-- Questions run in workers as well.
CREATE FUNCTION plan(statement text) RETURNS SETOF text LANGUAGE plpgsql AS
    $$ BEGIN RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF) ' || statement; END $$; -- each version prints a subquery otherwise
SELECT count(*) FROM plan('SELECT count(*) FROM rows WHERE lego_estimate((SELECT numbers FROM serial), number) > 20') l
    WHERE l ~ 'Parallel Seq Scan on rows';
DROP FUNCTION plan;
SELECT count(*) AS parallel FROM rows WHERE lego_estimate((SELECT numbers FROM serial), number) > 20 \gset
SET max_parallel_workers_per_gather = 0;
SELECT count(*) = :parallel AS same, count(*) > 0 AS some FROM rows
    WHERE lego_estimate((SELECT numbers FROM serial), number) > 20;
SET max_parallel_workers_per_gather = 2;

-- A budget that differs between rows is found across processes too.
SET parallel_leader_participation = off;
SELECT lego_agg(number, 65536 * (1 + grp)) FROM rows;

-- A partitioned table, partition by partition.
CREATE TABLE parts (grp int, number bigint) PARTITION BY LIST (grp);
CREATE TABLE parts0 PARTITION OF parts FOR VALUES IN (0);
CREATE TABLE parts1 PARTITION OF parts FOR VALUES IN (1, 2);
INSERT INTO parts SELECT grp, number FROM rows;
ANALYZE parts;
SET max_parallel_workers_per_gather = 0;
SET enable_partitionwise_aggregate = on;
EXPLAIN (COSTS OFF) SELECT lego_agg(number, 65536) FROM parts;
SELECT p.numbers = s.numbers AS same FROM serial s, (SELECT lego_agg(number, 65536) AS numbers FROM parts) p;
EXPLAIN (COSTS OFF) SELECT grp, lego_agg(number, 1 << 18) AS numbers FROM parts GROUP BY grp;
SELECT count(*) FROM serial_groups s JOIN (SELECT grp, lego_agg(number, 1 << 18) AS numbers FROM parts
    GROUP BY grp) p USING (grp, numbers);

-- Where each part has a budget or a model of its own, it is found when they are combined.
SELECT lego_agg(number, CASE grp WHEN 0 THEN 65536 ELSE 131072 END) FROM parts;
SELECT lego_agg(number, 1, 65536, 0, CASE grp WHEN 0 THEN 'paper' ELSE 'compact' END) FROM parts;

DROP TABLE rows, serial, serial_groups, sketches, parts;
