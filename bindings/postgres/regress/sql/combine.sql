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

-- A fold is the sketch that fewer bricks would have made. Sketches meet at the smaller number, if it divides the other.
SELECT (lego_info(sketch)->'bricks')::int AS bricks FROM whole;
SELECT (lego_info(f)->'bricks')::int AS bricks, lego_total(f), lego_estimate(f, 5)
    FROM (SELECT lego_fold(sketch, 508) AS f FROM whole) t;
SELECT lego_fold(w.sketch, 254) = lego_merge_agg(lego_fold(p.sketch, 254)) AS same FROM parts p, whole w
    GROUP BY w.sketch;
SELECT lego_fold(w.sketch, 508) + p.sketch = lego_fold(w.sketch + p.sketch, 508) AS same FROM parts p, whole w
    WHERE p = 0;
SELECT lego_fold(lego_empty(65536), 1) + sketch = lego_fold(sketch, 1) AS same FROM whole;
SELECT lego_fold(lego_empty(100000), 8) + sketch = lego_fold(sketch, 8) AS same FROM whole;

-- Sketches that keep their most frequent items add up too.
SELECT lego_total(s), t.* FROM (SELECT lego_merge_agg(s) AS s FROM (
    SELECT lego_top_agg(g % 10, 16384) AS s FROM generate_series(1, 1000) g GROUP BY g % 3) p) m,
    LATERAL lego_top_int(s, 2) t;
SELECT lego_total(a + a), lego_estimate(a + a, 3) FROM (SELECT lego_top_agg(g % 10, 16384) AS a
    FROM generate_series(1, 1000) g) t;

-- The empty sketch.
SELECT lego_info(lego_empty(4096)), lego_info(lego_empty(1 << 20, 5, 'rule'))->'model' AS model,
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
