-- Sums, differences, folds, the empty sketch.
CREATE TABLE parts AS SELECT p, lego_agg(g % 777, 65536) AS sketch FROM generate_series(1, 20000) g,
    LATERAL (SELECT g % 4 AS p) t GROUP BY p;
CREATE TABLE whole AS SELECT lego_agg(g % 777, 65536) AS sketch FROM generate_series(1, 20000) g;

SELECT lego_merge_agg(p.sketch) = w.sketch AS same FROM parts p, whole w GROUP BY w.sketch;
SELECT a.sketch + b.sketch = b.sketch + a.sketch AS commutes, a.sketch + lego_empty(65536) = a.sketch AS zero,
       a.sketch + b.sketch - b.sketch = a.sketch AS back FROM parts a, parts b WHERE a.p = 0 AND b.p = 1;
SELECT lego_total(w.sketch - lego_merge_agg(p.sketch)) FROM parts p, whole w GROUP BY w.sketch;
SELECT lego_estimate(a.sketch - b.sketch, 1) AS difference FROM parts a, parts b WHERE a.p = 1 AND b.p = 2;
SELECT lego_plus(a.sketch, b.sketch) = a.sketch + b.sketch AS plus,
    lego_minus(a.sketch, b.sketch) = a.sketch - b.sketch AS minus,
       a.sketch + NULL IS NULL AS nothing FROM parts a, parts b WHERE a.p = 0 AND b.p = 1;

-- A fold is the sketch that fewer blocks would have made. Sketches meet at the smaller number, if it divides the other.
SELECT max(d) AS part FROM whole, LATERAL (SELECT (lego_info(sketch)->'blocks')::int AS blocks) b, generate_series(2, blocks / 2) d
    WHERE blocks % d = 0 \gset
SELECT lego_info(f)->'blocks' = :part::text::jsonb AS blocks, lego_total(f), lego_estimate(f, 5)
    FROM (SELECT lego_fold(sketch, :part) AS f FROM whole) t;
SELECT lego_fold(w.sketch, :part) = lego_merge_agg(lego_fold(p.sketch, :part)) AS same FROM parts p, whole w
    GROUP BY w.sketch;
SELECT lego_fold(w.sketch, :part) + p.sketch = lego_fold(w.sketch + p.sketch, :part) AS same FROM parts p, whole w
    WHERE p = 0;
SELECT lego_fold(lego_empty(65536), :part) + sketch = lego_fold(sketch, :part) AS same FROM whole;
SELECT lego_fold(lego_empty(131072), :part) + sketch = lego_fold(sketch, :part) AS same FROM whole;

-- To a budget: the most blocks that fit it, all of them if it is large enough.
-- Budgets of twice the other's nest, from 64 KB on.
SELECT lego_fold_within(sketch, 40000) = lego_fold(sketch, :part) AS part, lego_fold_within(sketch, 65536) = sketch AS all,
    (lego_info(lego_fold_within(sketch, 5000))->'bytes')::int <= 5000 AS less FROM whole;
SELECT lego_fold_within(a, 65536) = b AS same, lego_fold_within(a + b, 65536) = b + b AS sum
    FROM (SELECT lego_agg(g % 777, 131072) AS a, lego_agg(g % 777, 65536) AS b FROM generate_series(1, 20000) g) t;

-- While every count is exact, budgets may be any: the sum has the first's.
SELECT lego_total(a + b), lego_estimate(a + b, 5), lego_info(a + b)->'exact' AS exact,
    lego_info(a + b)->'budget' = lego_info(a)->'budget' AS first FROM (SELECT lego_agg(g % 777, 20000) AS a,
    lego_agg(g % 777, 30000) AS b FROM generate_series(1, 20000) g) t;

-- So many, and so large, that lego_merge_agg joins them in several steps; and such as do not fit are named then.
CREATE TABLE days AS SELECT lego_agg(g, 50, 4096) AS sketch FROM generate_series(1, 8000) g;
SELECT lego_total(s), (SELECT count(*) FROM generate_series(1, 8000) g WHERE (lego_bounds(s, g)).upper < 5000) AS above
    FROM (SELECT lego_merge_agg(sketch) AS s FROM days, generate_series(1, 100)) t;
SELECT lego_total(s), lego_estimate(s, 77) FROM (SELECT lego_merge_agg(p) AS s FROM
    (SELECT lego_agg(g, 8 << 20) AS p FROM generate_series(1, 600000) g) t, generate_series(1, 6)) u;
SELECT lego_merge_agg(s ORDER BY place) FROM (SELECT place, sketch AS s FROM days, generate_series(1, 3) place
    UNION ALL SELECT 4, lego_agg(g, 20000) FROM generate_series(1, 8000) g) t;
DROP TABLE days;

-- Sketches that keep their most frequent items add up too.
SELECT lego_total(s), t.* FROM (SELECT lego_merge_agg(s) AS s FROM (
    SELECT lego_top_agg(g % 10, 16384) AS s FROM generate_series(1, 1000) g GROUP BY g % 3) p) m,
    LATERAL lego_top_int(s, 2) t;
SELECT lego_total(a + a), lego_estimate(a + a, 3) FROM (SELECT lego_top_agg(g % 10, 16384) AS a
    FROM generate_series(1, 1000) g) t;

-- They fold, and keep their items; their exact counts stay.
SELECT lego_info(f)->'blocks' = to_jsonb(blocks / 7) AS seventh, lego_total(f), t.* FROM
    (SELECT s, (lego_info(s)->'blocks')::int AS blocks FROM
        (SELECT lego_top_agg(g % 10, 65536) AS s FROM generate_series(1, 1000) g) a) b,
    LATERAL (SELECT lego_fold(s, blocks / 7) AS f) c, LATERAL lego_top_int(f, 2) t;

-- With one that does not keep them: into that one everything is counted; the other goes on with its own.
CREATE TABLE both_kinds AS SELECT top, lego_fold(lego_agg(g % 10, budget), 1) AS one_block,
    lego_agg(g % 10, budget) AS plain
    FROM (SELECT top, (lego_info(top)->'budget')::bigint - (lego_info(top)->'top_budget')::bigint AS budget
        FROM (SELECT lego_top_agg(g % 10, 16384) AS top FROM generate_series(1, 1000) g) t) t,
    generate_series(1, 1000) g
    GROUP BY top;
SELECT lego_info(plain)->'blocks' = lego_info(top)->'blocks' AS meet, plain + top = plain + plain AS counted,
    lego_total(top + plain), lego_estimates(top + plain, '{3, 10}'::bigint[]), (lego_bounds(top + plain, 3)).upper
    FROM both_kinds;
SELECT lego_total(top + one_block), t.* FROM both_kinds, LATERAL lego_top_int(top + one_block, 2) t;
SELECT lego_total(lego_merge_agg(s)) FROM (SELECT plain FROM both_kinds UNION ALL SELECT top FROM both_kinds) t(s);
DROP TABLE both_kinds;

-- The empty sketch.
SELECT lego_info(lego_empty(4096)) - '{classes, distinct_error, expected_aae_error, expected_are_error}'::text[] AS info, lego_info(lego_empty(1 << 20, 5, 'paper'))->'model' AS model,
    lego_estimate(lego_empty(4096), 'x');

-- Loops that keep a running sum.
DO $$
DECLARE sum legosketch := lego_empty(65536);
BEGIN
    FOR i IN 0..3 LOOP
        sum := sum + (SELECT sketch FROM parts WHERE p = i);
    END LOOP;
    RAISE NOTICE 'same: %', sum = (SELECT sketch FROM whole);
END $$;

DROP TABLE parts, whole;
