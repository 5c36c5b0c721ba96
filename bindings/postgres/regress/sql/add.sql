-- lego_add, lego_empty, sizes, and short looks at a sketch.
CREATE TABLE counters (name text PRIMARY KEY, sketch legosketch);
INSERT INTO counters VALUES ('a', lego_add(lego_empty('64kB'), '/home'));
INSERT INTO counters VALUES ('a', lego_add(lego_empty('64kB'), '/shop'))
    ON CONFLICT (name) DO UPDATE SET sketch = lego_add(counters.sketch, '/shop', 3);
SELECT lego_estimates(sketch, '{/home, /shop, /none}'::text[]), lego_total(sketch) FROM counters;

-- It is what an aggregate makes of the same.
CREATE FUNCTION one_by_one(items anyarray, counts bigint[], sketch legosketch) RETURNS legosketch LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. array_length(items, 1) LOOP sketch := lego_add(sketch, items[i], counts[i]); END LOOP;
    RETURN sketch;
END $$;
SELECT lego_agg(g, 1, 16384) = one_by_one(array_agg(g), array_agg(1::bigint), lego_empty(16384)) AS integers,
    lego_agg('w' || g, g, 16384, 7) = one_by_one(array_agg('w' || g), array_agg(g::bigint), lego_empty(16384, 7)) AS words,
    lego_top_agg(g % 7, '64kB') = one_by_one(array_agg(g % 7), array_agg(1::bigint), lego_empty('64kB', top => true)) AS top,
    lego_agg(g / 2.0, 1, 8192, 0, 'paper') = one_by_one(array_agg(g / 2.0), array_agg(1::bigint),
        lego_empty(8192, model => 'paper')) AS paper
    FROM generate_series(1, 300) g;

-- Without a sketch it begins with one; without an item or a count it stays as it is.
SELECT lego_add(NULL, 5) = lego_add(lego_empty(), 5) AS begun, lego_add(NULL, NULL) IS NULL AS nothing;
SELECT lego_add(sketch, NULL) = sketch AS item, lego_add(sketch, 'x', NULL) = sketch AS count,
    lego_add(sketch, 'NaN'::float8) = sketch AS nan, lego_add(sketch, '/shop', -3) = lego_add(lego_empty('64kB'), '/home')
    AS deleted FROM counters;

-- Items are of the sketch's kind; counts are whole.
SELECT lego_estimate(lego_add(lego_add(NULL, 5), '5'), 5);
SELECT lego_add(lego_add(NULL, 5), 'five');
SELECT lego_add(sketch, 5) FROM counters;
SELECT lego_estimate(lego_add(NULL, 'x', sum(g)), 'x') FROM generate_series(1, 4::bigint) g;
SELECT lego_add(NULL, 'x', 1.5);
SELECT lego_add(NULL, 'x', 9223372036854775808);
SELECT lego_total(lego_add(lego_empty(top => true), repeat('x', 239)));

-- sum() counts in aggregates, of any type of integer.
SELECT lego_total(lego_agg(page, hits, 65536)), lego_total(lego_agg(page, hits::int, '64kB')),
    lego_total(lego_agg(page, hits::smallint, '64 kB'))
    FROM (SELECT g % 3 AS page, sum(g) AS hits FROM generate_series(1, 10::bigint) g GROUP BY 1) t;
SELECT lego_agg('x', 0.5, 65536);
SELECT lego_agg('x', 'y', 65536);
SELECT lego_agg('x', 1.0::float8, 65536);

-- Budgets: bytes, sizes, or the default; the same in all rows.
SELECT lego_info(lego_empty())->'budget' AS empty, lego_info(lego_agg(1))->'budget' AS agg,
    lego_info(lego_empty('1MB'))->'budget' AS mb, lego_empty('64kB') = lego_empty(65536) AS kb,
    lego_agg(1, '64kB') = lego_agg(1, 65536) AS agg_kb, lego_agg(1, 1, '64kB') = lego_agg(1, 1, 65536, 0) AS count_kb,
    lego_fold_within(lego_agg(1, 65536), '40 kB') = lego_fold_within(lego_agg(1, 65536), 40960) AS fold;
SELECT lego_agg(g, size) IS NOT NULL AS same FROM generate_series(1, 3) g, (VALUES ('64kB')) AS t(size);
SELECT lego_agg(g, (64 + g % 2) || 'kB') FROM generate_series(1, 3) g;
SELECT lego_agg(1, 'much');
SELECT lego_agg(1, '2 GB');
SELECT lego_agg(1, true);
SELECT lego_agg(1, 1, 65536, 'x');
SELECT lego_agg(1, 1, 65536, 0, 5);
SELECT lego_agg(1, 1, 65536, 0, 'compact', 7);
SELECT lego_agg(1, VARIADIC ARRAY[65536]);
SELECT lego_empty('1 kB');
SELECT lego_agg(1, 1, 65536, 5) = lego_agg(1, 1, 65536, 5, 'compact') AS seed,
    lego_info(lego_empty(seed => 5))->'seed' AS five, (lego_info(lego_empty(top => true))->'top_budget')::int > 100000 AS top;

-- || is +; looks.
SELECT lego_add(NULL, 1) || lego_add(NULL, 2) = lego_add(NULL, 1) + lego_add(NULL, 2) AS same;
SELECT lego_show(sketch), lego_distinct(sketch), e.absolute, e.relative FROM counters, lego_expected_error(sketch) e;
SELECT lego_show(lego_empty()), lego_show(lego_agg(g)), lego_show(lego_top_agg(g::text, 1 << 18)) FROM generate_series(1, 2000) g;
SELECT lego_show(s) ~ '^\d+ distinct items \(integers\), 90000 in all, error about [0-9.e+]+ %, \d+ of at most \d+ bytes$' AS show,
    abs(lego_distinct(s) - 20000) < 6000 AS distinct, (lego_expected_error(s)).absolute > 0 AS absolute,
    (lego_expected_error(s)).relative BETWEEN 0.001 AND 1 AS relative
    FROM (SELECT lego_agg(g, 1 + g % 8, 16384) AS s FROM generate_series(1, 20000) g) t;
SELECT lego_show(s), lego_expected_error(s) FROM (SELECT lego_agg('x', 1, 65536, 0, 'paper') AS s) t;

DROP TABLE counters;
DROP FUNCTION one_by_one;
