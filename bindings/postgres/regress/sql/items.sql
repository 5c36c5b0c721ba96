-- What values of other types are as items (bindings/tests/items.py compares them with Python's), and items that do not
-- go with a sketch.
CREATE TYPE mood AS ENUM ('glad', 'sad');
CREATE DOMAIN grade AS int CHECK (VALUE > 0);
CREATE TABLE v (id int, moment timestamptz, day date, mood mood, grade grade, number numeric, real float8, short float4,
    flag boolean, uuid uuid, json jsonb, letter char(3), name name);
INSERT INTO v VALUES
    (1, '2026-11-18 12:00:00.5+05:30', '2026-11-18', 'glad', 5, 2.00, 2, 0.1, true,
        '12345678-9ABC-DEF0-1234-56789abcdef0', '{"b": 1, "a": [1.0, null]}', 'x', 'n'),
    (2, 'infinity', '-infinity', 'sad', 6, 0.50, 'NaN', 'infinity', false, NULL, '"text"', 'xyz', 'm');
CREATE FUNCTION items(sketch legosketch) RETURNS text[] LANGUAGE SQL AS
    $$ SELECT array_agg(CASE WHEN octet_length(item) = 8 AND get_byte(item, 7) IN (0, 255)
        THEN 'integer ' || get_byte(item, 0) ELSE encode(item, 'escape') END ORDER BY item) FROM lego_top(sketch) $$;

-- Nothing depends on how a session prints.
SET DateStyle = 'German';
SET extra_float_digits = -5;
SET TimeZone = 'Asia/Tokyo';
SELECT items(lego_top_agg(moment)) AS moments, items(lego_top_agg(day)) AS days, items(lego_top_agg(moment::time)) AS times,
    items(lego_top_agg('2026-11-18 12:00:00.25'::timestamp)) AS local FROM v WHERE id = 1;
SELECT items(lego_top_agg(moment)) AS moments, items(lego_top_agg(day)) AS days FROM v;
SELECT items(lego_top_agg(number)) AS numeric, items(lego_top_agg(real)) AS float8, items(lego_top_agg(short)) AS float4,
    items(lego_top_agg(flag)) AS boolean, items(lego_top_agg(1e300 / 3)) AS large FROM v;
RESET ALL;
SELECT items(lego_top_agg(mood)) AS enum, items(lego_top_agg(grade)) AS domain, items(lego_top_agg(uuid)) AS uuid,
    items(lego_top_agg(json)) AS jsonb, items(lego_top_agg(letter)) AS char, items(lego_top_agg(name)) AS name FROM v;
SELECT lego_info(lego_agg(number))->'items' AS numeric, lego_info(lego_agg(real))->'items' AS float8,
    lego_info(lego_agg(day))->'items' AS date, lego_total(lego_agg(real)) AS without_nan FROM v;

-- Numbers are one item whatever their type; arrays have items of all these types too.
SELECT lego_estimate(s, 2), lego_estimate(s, 2.00), lego_estimate(s, 2::float4), lego_estimate(s, 0.5),
    lego_estimate(s, 0.50::float8), lego_estimate(s, 'NaN'::float8) AS none
    FROM (SELECT lego_agg(x) AS s FROM unnest('{2, 2.0, 0.5}'::numeric[]) x) t;
SELECT lego_estimates(s, '{2, 0.5, NaN, NULL, 7}'::float8[]), lego_estimates(s, '{2.00, 0.50}'::numeric[]),
    lego_estimates(s, '{0.5, 2}'::text[]) AS text
    FROM (SELECT lego_agg(x) AS s FROM unnest('{2, 2.0, 0.5}'::numeric[]) x) t;
SELECT lego_estimates(lego_agg(day), array_agg(day)), lego_estimates(lego_agg(mood), array_agg(mood)),
    lego_estimates(lego_agg(letter), array_agg(letter)), lego_estimates(lego_agg(json), array_agg(json)) FROM v;
SELECT d.* FROM (SELECT lego_agg(day) AS s, array_agg(day) AS days FROM v) t, lego_decode(s, days) d;
SELECT item, estimate, lower, upper FROM lego_decode(lego_empty(), '{a, NULL, b}'::text[], absent => 0.5);

-- Several values are one item as jsonb. What has no rule is refused.
SELECT items(lego_top_agg(jsonb_build_array(id, day, mood))) FROM v;
SELECT lego_agg(interval '1 day');
SELECT lego_agg(ARRAY[1, 2], '64kB');
SELECT lego_agg(row(1, 'a'));
SELECT lego_estimate(lego_empty(), point '(1, 2)');
SELECT lego_estimates(lego_empty(), ARRAY[interval '1 day']);

-- What has no type is text; where all items are integers it is read as one, and what is none is refused.
CREATE TABLE s AS SELECT lego_agg(g) AS numbers, lego_agg('n' || g) AS words, lego_agg(g) + lego_agg(g::text) AS pair
    FROM generate_series(-3, 5) g;
SELECT lego_info(numbers)->'items' AS numbers, lego_info(words)->'items' AS words, lego_info(pair)->'items' AS pair FROM s;
SELECT lego_estimate(numbers, '4') AS four, lego_estimate(numbers, '-3'::varchar) AS minus_three,
    lego_estimate(numbers, '77') AS no, lego_bounds(numbers, '4'), lego_estimates(numbers, '{1, -2, 77}'::text[]),
    lego_estimate(pair, '4') AS as_text, lego_estimate(numbers, 0.25) AS quarter FROM s;
PREPARE asked AS SELECT lego_estimate(numbers, $1) FROM s;
EXECUTE asked('5');
EXECUTE asked('five');
SELECT lego_estimate(numbers, v) FROM s, unnest('{18446744073709551615, -9223372036854775808}'::text[]) v;
SELECT lego_estimate(numbers, '18446744073709551616') FROM s;
SELECT lego_estimate(numbers, '05') FROM s;
SELECT lego_estimate(numbers, '-0') FROM s;
SELECT lego_estimate(numbers, '') FROM s;
SELECT lego_estimate(numbers, date '2026-11-18') FROM s;
SELECT lego_estimates(numbers, '{1, x}'::text[]) FROM s;
SELECT lego_estimate(numbers, '\x0400000000000000'::bytea) FROM s;
SELECT lego_estimate(numbers, '4'::bytea) FROM s;
SELECT lego_estimate(words, 4) FROM s;
SELECT lego_bounds(words, true) FROM s;
SELECT lego_estimates(words, '{1, 2}'::int[]) FROM s;
SELECT lego_estimate(words, 4.0), lego_estimate(lego_empty(), 4) AS empty, lego_estimate(pair, 4) AS pair FROM s;

DROP TABLE v, s;
DROP FUNCTION items;
DROP TYPE mood;
DROP DOMAIN grade;
