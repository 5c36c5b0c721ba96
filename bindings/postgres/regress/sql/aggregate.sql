-- lego_agg against exact counts.
CREATE TABLE visits (day int, page text, user_id bigint, hits bigint);
INSERT INTO visits SELECT g % 7, 'page ' || g * g * g % 3001, (g * g * g) % 321, g % 5
    FROM generate_series(1, 20000::bigint) g;

-- Where there is room enough every count is exact, of every type of item.
WITH s AS (SELECT lego_agg(user_id, 1 << 18) AS sketch FROM visits),
     t AS (SELECT user_id, count(*) AS n FROM visits GROUP BY user_id)
SELECT count(*), sum(abs(lego_estimate(sketch, user_id) - n)) AS error FROM s, t;
WITH s AS (SELECT lego_agg(page, 1 << 18) AS sketch FROM visits),
     t AS (SELECT page, count(*) AS n FROM visits GROUP BY page)
SELECT count(*), sum(abs(lego_estimate(sketch, page) - n)) AS error FROM s, t;
WITH s AS (SELECT lego_agg(page::bytea, 1 << 18) AS sketch FROM visits),
     t AS (SELECT page, count(*) AS n FROM visits GROUP BY page)
SELECT count(*), sum(abs(lego_estimate(sketch, page::bytea) - n)) AS error FROM s, t;

-- With counts, some of them 0; the same with a seed; with another model, of whose answers only the upper one is sure.
WITH s AS (SELECT lego_agg(page, hits, 1 << 18) AS a, lego_agg(page, hits, 1 << 18, -1, 'compact') AS b,
                  lego_agg(page, hits, 1 << 20, 0, 'paper') AS c FROM visits),
     t AS (SELECT page, sum(hits) AS n FROM visits GROUP BY page)
SELECT sum(abs(lego_estimate(a, page) - n)), sum(abs(lego_estimate(b, page) - n)),
    count(*) FILTER (WHERE (lego_bounds(c, page)).upper < n) AS below,
    bool_and(lego_total(c) = 40000) AS total FROM s, t;

-- In too little room upper is still never below the truth.
WITH s AS (SELECT lego_agg(page || day, 4096) AS sketch FROM visits),
     t AS (SELECT page || day AS page, count(*) AS n FROM visits GROUP BY 1)
SELECT count(*) FILTER (WHERE upper < n) AS below, count(*) FILTER (WHERE upper > n) > 100 AS above
    FROM s, t, LATERAL lego_bounds(sketch, page) b;

-- Text and its bytes are one item; smaller integers are bigint's.
SELECT lego_agg(page, 65536) = lego_agg(page::bytea, 65536) AS bytes,
    lego_agg(page, 65536) = lego_agg(page::varchar, 65536) AS varchar
    FROM visits;
SELECT lego_agg(day, 65536) = lego_agg(day::bigint, 65536) AS int,
    lego_agg(day::smallint, 65536) = lego_agg(day::bigint, 65536) AS short
    FROM visits;
SELECT lego_estimate(lego_agg(g, 65536), '\xfeffffffffffffff'::bytea) FROM generate_series(-3, 3) g;

-- The order of rows does not matter, nor whether they come as counts.
SELECT a.s = b.s AS reversed, a.s = c.s AS counted FROM
    (SELECT lego_agg(page, 65536) AS s FROM visits) a,
    (SELECT lego_agg(page, 65536 ORDER BY page DESC) AS s FROM visits) b,
    (SELECT lego_agg(page, n, 65536) AS s FROM (SELECT page, count(*) AS n FROM visits GROUP BY page) t) c;

-- Deletions: what was counted before is gone.
SELECT lego_estimate(s, 1) AS one, lego_estimate(s, 2) AS two, lego_total(s) FROM
    (SELECT lego_agg(item, count, 65536) AS s FROM (VALUES (1, 10), (2, 5), (1, -4), (2, -5)) AS t(item, count)) t;
SELECT lego_agg(item, count, 65536) = lego_empty(65536) AS empty
    FROM (VALUES (1, 10), (2, 5), (1, -10), (2, -5)) AS t(item, count);

-- Nulls: an item or a count that is null is passed over; nothing at all gives null; so does nothing but nulls.
SELECT lego_total(lego_agg(item, 65536)) AS items, lego_total(lego_agg(item, count, 65536)) AS counts
    FROM (VALUES ('a', 1), (NULL, 100), ('b', NULL), ('c', 3)) AS t(item, count);
SELECT lego_agg(page, 65536) IS NULL AS nothing, lego_agg(user_id, 1, 65536) IS NULL AS counted,
    lego_top_agg(page, 65536) IS NULL AS top,
       lego_merge_agg(NULL::legosketch) IS NULL AS merged FROM visits WHERE false;
SELECT lego_agg(NULL::text, 65536) IS NULL AS nothing, lego_agg(user_id, NULL, 65536) IS NULL AS counted,
       lego_merge_agg(NULL) IS NULL AS merged FROM visits;

-- GROUP BY, hashed and sorted; FILTER; DISTINCT; grouping sets; a subquery for each row.
CREATE TABLE by_day AS SELECT day, lego_agg(page, 32768) AS sketch, count(*) AS n FROM visits GROUP BY day;
SELECT day, lego_total(sketch) = n AS total, lego_estimate(sketch, 'page 1') FROM by_day ORDER BY day;
SET enable_hashagg = off;
SELECT count(*) FROM by_day JOIN (SELECT day, lego_agg(page, 32768) AS sketch FROM visits GROUP BY day) s
    USING (day, sketch);
RESET enable_hashagg;
SET enable_sort = off;
SELECT count(*) FROM by_day JOIN (SELECT day, lego_agg(page, 32768) AS sketch FROM visits GROUP BY day) s
    USING (day, sketch);
RESET enable_sort;
SELECT count(*) FROM (SELECT user_id, lego_agg(page, 4096) AS s FROM visits GROUP BY user_id) t WHERE lego_total(s) > 0;
SELECT lego_total(lego_agg(page, 65536) FILTER (WHERE day = 3)), lego_total(lego_agg(DISTINCT page, 65536)) FROM visits;
SELECT day, lego_total(lego_agg(page, 4096)) FROM visits WHERE day < 2 GROUP BY ROLLUP (day) ORDER BY day;

-- Budgets may differ between groups.
SELECT day, octet_length(lego_agg(page, 8192 * (day + 1))::bytea) <= 8192 * (day + 1) AS fits FROM visits
    WHERE day < 3 GROUP BY day ORDER BY day;

-- Over windows.
SELECT g, lego_total(lego_agg(g, 4096) OVER (ORDER BY g)) AS running,
       lego_total(lego_agg(g, 4096) OVER (ORDER BY g ROWS 2 PRECEDING)) AS moving FROM generate_series(1, 5) g;
SELECT max(lego_total(s)) FROM (SELECT lego_agg(g, 4096) OVER (ORDER BY g / 3000) AS s
    FROM generate_series(1, 12000) g) t;

-- Long items, empty ones, zero bytes in them; more of them than a buffer takes.
SELECT lego_estimate(s, repeat('long ', 100000)) AS long, lego_estimate(s, '') AS empty,
    lego_estimate(s, '\x0000'::bytea) AS zeros, lego_total(s)
    FROM (SELECT lego_agg(item, 65536) AS s FROM (
        SELECT convert_to(CASE g % 3 WHEN 0 THEN repeat('long ', 100000) WHEN 1 THEN '' ELSE 'short' END, 'UTF8')
            AS item
            FROM generate_series(1, 30) g UNION ALL SELECT '\x0000' FROM generate_series(1, 7)) t) t;
SELECT lego_estimate(s, repeat('x', 77)) AS x77, lego_total(s)
    FROM (SELECT lego_agg(repeat('x', g % 100), 65536) AS s FROM generate_series(1, 100000) g) t;

-- Buffers: just below, at and above what one holds, in one flush or several; and deletions after many.
SELECT n, lego_total(s) = n AS total, s = parts AS same FROM (SELECT n,
        (SELECT lego_agg(g % 1000, 16384) FROM generate_series(1, n) g) AS s,
        (SELECT lego_merge_agg(p) FROM (SELECT lego_agg(g % 1000, 16384) AS p FROM generate_series(1, n) g
    GROUP BY g % 10) t) AS parts
    FROM unnest('{1, 31, 32, 33, 4095, 4096, 4097, 8192, 8193, 70000}'::int[]) n) t;
SELECT lego_total(s), lego_estimate(s, 5), lego_estimate(s, 500)
    FROM (SELECT lego_agg(g % 1000, CASE WHEN g <= 50000 THEN 1 ELSE -1 END, 65536) AS s
    FROM generate_series(1, 75000) g) t;

-- A large sketch.
SELECT lego_total(s), lego_estimate(s, 77), octet_length(s::bytea) BETWEEN 7000000 AND 16777216 AS large
    FROM (SELECT lego_agg(g, 1 << 24) AS s FROM generate_series(1, 1200000) g) t;

DROP TABLE visits, by_day;
