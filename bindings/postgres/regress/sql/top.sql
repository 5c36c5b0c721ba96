-- The most frequent items.
CREATE TABLE words AS SELECT 'w' || floor(1000 / g)::int AS word FROM generate_series(1, 1000) g, generate_series(1, 3);
CREATE TABLE s AS SELECT lego_top_agg(word, 16384) AS words, lego_top_agg(substr(word, 2)::int, 16384) AS numbers,
    lego_top_agg(word::bytea, 2, 16384) AS bytes, lego_top_agg(word, 1, 16384, 3, 'compact') AS seeded FROM words;

SELECT word, count(*) FROM words GROUP BY word ORDER BY 2 DESC, 1 LIMIT 5;
SELECT t.* FROM s, lego_top_text(words, 5) t;
SELECT t.* FROM s, lego_top_int(numbers, 5) t;
SELECT t.* FROM s, lego_top(bytes, 2) t;
SELECT t.* FROM s, lego_top_text(seeded, 2) t;
SELECT count(*), sum(upper), bool_and(exact) FROM s, lego_top(words);
SELECT count(*) FROM s, lego_top(words, 0);
SELECT count(*) FROM s, lego_top_text(words) t JOIN (SELECT word, count(*) AS n FROM words
    GROUP BY word) w ON item = word AND n = upper AND n = lower AND n = estimate;
SELECT lego_top_int(numbers, 1) FROM s;

-- They answer as other sketches do.
SELECT lego_estimate(words, 'w1'), lego_bounds(words, 'w1'), lego_estimates(numbers, '{1, 2, 12345}'::bigint[]),
    lego_total(bytes) FROM s;

-- Integers keep their sign; keys of more than 238 bytes are counted, not listed.
SELECT t.* FROM (SELECT lego_top_agg(g, 16384) AS s
    FROM unnest('{-1, -1, -1, -9223372036854775808, 5, 5}'::bigint[]) g) a,
    lego_top_int(s) t;
SELECT count(*), max(length(item)) FROM (SELECT lego_top_agg(repeat('x', g), 65536) AS s
    FROM generate_series(200, 300) g) t, lego_top_text(s);

-- Deletions.
SELECT t.* FROM (SELECT lego_top_agg(item, n, 16384) AS s
    FROM (VALUES ('a', 10), ('b', 7), ('a', -6)) AS v(item, n)) a, lego_top_text(s) t;

DROP TABLE words, s;
