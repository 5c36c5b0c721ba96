-- Moving windows: rows that leave are taken out while the sketch is exact, and else it is made anew; it is the sketch of
-- the rows of the frame, byte for byte, all the same.
CREATE TABLE rows AS SELECT g AS id, CASE WHEN g % 11 = 0 THEN NULL ELSE g * g % 37 END AS item, g % 5 - 1 AS count,
    'w' || g * g % 1999 AS word FROM generate_series(1, 400) g;

CREATE FUNCTION compare(over text, aggregate text) RETURNS TABLE (n bigint, nulls bigint, wrong bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format($query$
        SELECT count(*), count(*) FILTER (WHERE moving IS NULL), count(*) FILTER (WHERE moving IS DISTINCT FROM anew)
        FROM (SELECT id, %2$s OVER (ORDER BY id %1$s) AS moving, min(id) OVER (ORDER BY id %1$s) AS first,
            max(id) OVER (ORDER BY id %1$s) AS last FROM rows) m
        LEFT JOIN LATERAL (SELECT %2$s AS anew FROM (SELECT * FROM rows WHERE id BETWEEN first AND last ORDER BY id) r) a
            ON true$query$, over, aggregate);
END $$;
SELECT a AS aggregate, o AS over, c.* FROM
    unnest('{"lego_agg(item)", "lego_agg(item, 4096)", "lego_agg(word, ''4kB'')", "lego_agg(item, count, 65536)",
        "lego_agg(item / 4.0, count, 65536, 3)", "lego_top_agg(word, 65536)"}'::text[]) a,
    unnest('{"ROWS 20 PRECEDING", "ROWS 150 PRECEDING", "ROWS BETWEEN 9 PRECEDING AND 5 PRECEDING",
        "ROWS BETWEEN 3 FOLLOWING AND 5 FOLLOWING"}'::text[]) o, compare(o, a) c;
-- More than is exact in 4 KB, for some of the time.
SELECT * FROM compare('ROWS 399 PRECEDING', 'lego_agg(word, 4096)');
SELECT count(DISTINCT lego_info(s)->'exact') FROM
    (SELECT lego_agg(word || w, 4096) OVER (ORDER BY id ROWS 600 PRECEDING) AS s FROM rows, generate_series(1, 3) w) t;

-- Sketches, too: of one budget and kind; of several budgets; of several kinds; such as keep the most frequent.
ALTER TABLE rows ADD sketch legosketch, ADD uneven legosketch, ADD mixed legosketch, ADD top legosketch;
UPDATE rows SET sketch = CASE WHEN id % 7 <> 0 THEN lego_add(lego_add(lego_empty('64kB'), id % 13), id, id % 3) END,
    uneven = lego_add(lego_empty(CASE WHEN id % 40 = 0 THEN 4096 ELSE 8192 END), id),
    mixed = CASE id % 30 WHEN 0 THEN lego_add(NULL, 'x') WHEN 1 THEN lego_empty() ELSE lego_add(NULL, id) END,
    top = lego_add(lego_empty('8kB', top => true), id % 13);
SELECT a AS aggregate, c.* FROM unnest('{sketch, uneven, mixed, top}'::text[]) a,
    compare('ROWS 20 PRECEDING', format('lego_merge_agg(%I)', a)) c;
SELECT lego_total(lego_merge_agg(sketch) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW))
    FROM rows LIMIT 3;

-- Errors are those of the aggregate.
SELECT lego_agg(item, CASE WHEN id < 3 THEN 65536 ELSE 8192 END) OVER (ORDER BY id ROWS 2 PRECEDING) FROM rows;

-- The last 24 hours: a sketch an hour, merged when it is asked; the oldest are deleted.
CREATE TABLE hourly (hour timestamptz PRIMARY KEY, pages legosketch NOT NULL);
INSERT INTO hourly SELECT h, lego_agg('/p' || g * g % 97, '64kB') FROM
    generate_series('2026-01-01'::timestamptz, '2026-01-03', '1 hour') h, generate_series(1, 100) g GROUP BY h;
INSERT INTO hourly VALUES ('2026-01-03', lego_add(lego_empty('64kB'), '/new'))
    ON CONFLICT (hour) DO UPDATE SET pages = lego_add(hourly.pages, '/new');
SELECT lego_total(day), lego_estimate(day, '/p1'), lego_estimate(day, '/new') FROM
    (SELECT lego_merge_agg(pages) AS day FROM hourly WHERE hour > timestamptz '2026-01-03' - interval '24 hours') t;
DELETE FROM hourly WHERE hour <= timestamptz '2026-01-03' - interval '24 hours';
SELECT count(*) FROM hourly;

DROP TABLE rows, hourly;
DROP FUNCTION compare;
