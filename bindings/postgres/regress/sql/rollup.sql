-- A sketch a day, and what they add up to.
CREATE TABLE requests (at timestamptz, path text);
INSERT INTO requests SELECT '2026-01-01 00:00 UTC'::timestamptz + g * interval '45 minutes', '/p' || g * g % 101
    FROM generate_series(0, 2000) g;
SET timezone = 'UTC';
CREATE TABLE daily (day date PRIMARY KEY, paths legosketch NOT NULL);
INSERT INTO daily SELECT at::date, lego_agg(path, 16384) FROM requests GROUP BY 1;

CREATE VIEW monthly AS SELECT date_trunc('month', day)::date AS month, lego_merge_agg(paths) AS paths FROM daily
    GROUP BY 1;
SELECT month, lego_total(paths) AS requests, lego_estimate(paths, '/p1') AS p1, lego_bounds(paths, '/p1') AS bounds
    FROM monthly ORDER BY month;
SELECT date_trunc('month', at)::date AS month, count(*) AS requests, count(*) FILTER (WHERE path = '/p1') AS p1
    FROM requests GROUP BY 1 ORDER BY 1;

-- A month of daily sketches is the sketch of the month, byte for byte.
SELECT month, m.paths = r.paths AS same FROM monthly m JOIN
    (SELECT date_trunc('month', at)::date AS month, lego_agg(path, 16384) AS paths FROM requests
    GROUP BY 1) r USING (month) ORDER BY month;

-- New rows: the day's sketch is brought up to date by adding what came since.
INSERT INTO daily SELECT '2026-01-01', lego_agg(path, 16384) FROM (VALUES ('/p1'), ('/p1'), ('/new')) AS v(path)
    ON CONFLICT (day) DO UPDATE SET paths = daily.paths + excluded.paths;
SELECT lego_total(paths), lego_estimate(paths, '/new') FROM daily WHERE day = '2026-01-01';

-- The last seven days of each day.
SELECT day, lego_total(lego_merge_agg(paths) OVER (ORDER BY day RANGE '6 days' PRECEDING)) AS week
    FROM daily ORDER BY day LIMIT 9;

-- What came and went from one week to the next.
WITH exact AS (
    SELECT path, count(*) FILTER (WHERE at >= '2026-01-12') - count(*) FILTER (WHERE at < '2026-01-12') AS more
        FROM requests WHERE at BETWEEN '2026-01-05' AND '2026-01-18 23:59' GROUP BY path)
SELECT path, more, lego_estimate(b.paths - a.paths, path) AS estimate FROM exact,
    (SELECT lego_merge_agg(paths) AS paths FROM daily WHERE day BETWEEN '2026-01-05' AND '2026-01-11') a,
    (SELECT lego_merge_agg(paths) AS paths FROM daily WHERE day BETWEEN '2026-01-12' AND '2026-01-18') b
    ORDER BY abs(more) DESC, path COLLATE "C" LIMIT 6;

DROP VIEW monthly;
DROP TABLE requests, daily;
