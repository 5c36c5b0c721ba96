-- What a sketch says by a sample of its items: how many come once, twice, 3 to 4, 5 to 8 times and so on, and standard errors.
CREATE TABLE counts AS SELECT g AS item, CASE WHEN g <= 9 THEN 1 WHEN g <= 14 THEN 2 WHEN g <= 15 THEN 3 WHEN g <= 17 THEN 4
    WHEN g = 18 THEN 1000 ELSE 1::bigint << 40 END AS n FROM generate_series(1, 19) g;
SELECT c.* FROM (SELECT lego_info(lego_agg(item, n, 65536))->'classes' FROM counts) i(classes),
    jsonb_to_recordset(classes) AS c(low bigint, high bigint, items float, error float);
SELECT lego_info(s)->'classes' AS classes, lego_info(s)->'distinct_error' AS distinct_error, lego_expected_error(s)
    FROM (SELECT lego_empty(65536, 0) AS s) t;
SELECT lego_info(s)->'classes' AS classes, lego_info(s)->'distinct_error' AS distinct_error, lego_expected_error(s)
    FROM (SELECT lego_empty(65536, 0, 'paper') AS s) t;

-- Of a sketch with room for few of the items it is about so, the heaviest exactly.
CREATE TABLE crowded AS SELECT lego_info(lego_agg(g, CASE WHEN g > 100000 THEN 1000000 ELSE 1 + (g % 4 = 0)::int END, 40000)) AS info
    FROM generate_series(1, 100008) g;
SELECT low, high, abs(items - CASE low WHEN 1 THEN 75000 WHEN 2 THEN 25000 ELSE 8 END) <= 5 * error + 0.5 AS about,
    error > 0 AS unsure FROM crowded, jsonb_to_recordset(info->'classes') AS c(low bigint, high bigint, items float, error float)
    WHERE low IN (1, 2, 524289) ORDER BY low;
SELECT abs((info->'distinct')::float - 100008) <= 5 * (info->'distinct_error')::float AS distinct,
    (info->'expected_aae_error')::float > 0 AS aae, (info->'expected_are_error')::float > 0 AS are, info->'exact' AS exact FROM crowded;
DROP TABLE counts, crowded;

-- All sketches of an aggregate are joined before the lightest items are let go: who is light in every one of them may be
-- heavy in the sum. Bounds hold.
CREATE TABLE days AS SELECT day, CASE day WHEN 0 THEN (SELECT lego_agg(g, 50, 4096) FROM generate_series(1, 8000) g)
    ELSE (SELECT lego_agg(-g, 10, 4096) FROM generate_series(1, 20) g) END AS sketch FROM generate_series(0, 49) day;
SELECT lego_total(s), (SELECT sum(e) BETWEEN 0.8 * 9800 AND 1.2 * 9800
        FROM unnest(lego_estimates(s, (SELECT array_agg(-g) FROM generate_series(1, 20) g))) e) AS risers,
    (SELECT count(*) FROM generate_series(1, 20) g WHERE (lego_bounds(s, -g)).upper < 490) AS above,
    (SELECT count(*) FROM generate_series(1, 8000) g WHERE (lego_bounds(s, g)).upper < 50) AS others
    FROM (SELECT lego_merge_agg(sketch ORDER BY day) AS s FROM days) t;
DROP TABLE days;
