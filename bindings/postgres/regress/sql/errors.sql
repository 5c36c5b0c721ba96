-- What is refused, and how.
SET max_parallel_workers_per_gather = 0; -- which of two sketches is named first is chance there
CREATE TABLE s AS SELECT lego_agg(g % 100, 65536) AS sketch, lego_top_agg(g % 100, 65536) AS top
    FROM generate_series(1, 1000) g;

-- Text that is no sketch.
SELECT ''::legosketch;
SELECT 'sketch'::legosketch;
SELECT '\x'::legosketch;
SELECT '\x4'::legosketch;
SELECT '\x4g'::legosketch;
SELECT '\x00'::legosketch;
SELECT 'LEGOSKCH'::legosketch;
SELECT '\x4c45474f534b4348'::legosketch; -- the first 8 bytes of one

-- Bytes that are none: cut, too long, damaged, of another kind.
SELECT substr(sketch::bytea, 1, 500)::legosketch FROM s;
SELECT substr(sketch::bytea, 1, octet_length(sketch::bytea) - 1)::legosketch FROM s;
SELECT (sketch::bytea || '\x00')::legosketch FROM s;
SELECT set_byte(sketch::bytea, 0, 0)::legosketch FROM s;
SELECT set_byte(sketch::bytea, 8, 9)::legosketch FROM s; -- the version
SELECT set_byte(sketch::bytea, 200, get_byte(sketch::bytea, 200) # 1)::legosketch FROM s;
SELECT set_byte(top::bytea, 200, get_byte(top::bytea, 200) # 1)::legosketch FROM s;
SELECT set_byte(sketch::bytea, 40, get_byte(sketch::bytea, 40) # 1)::legosketch FROM s; -- the name of its model
SELECT ''::bytea::legosketch;
INSERT INTO s (sketch) VALUES ('\x00'::bytea);

-- Budgets, seeds, models.
SELECT lego_agg(1, 4095);
SELECT lego_agg(1, 0);
SELECT lego_agg(1, -1);
SELECT lego_agg(1, 1 << 30);
SELECT lego_agg(1, NULL);
SELECT lego_agg('a'::text, 1, NULL);
SELECT lego_agg(1, 1, 65536, 0, NULL);
SELECT lego_agg(1, 1, 65536, 0, 'large');
SELECT lego_top_agg(1, 4600);
SELECT lego_agg(g, 65536 + g) FROM generate_series(1, 3) g;
SELECT lego_agg(g, 1, 65536, g, 'compact') FROM generate_series(1, 3) g;
SELECT lego_agg(g, 1, 65536, 0, CASE g WHEN 1 THEN 'compact' ELSE 'paper' END) FROM generate_series(1, 3) g;
SELECT lego_empty(100);
SELECT lego_empty(65536, 0, 'none');

-- Sums beyond 64 bits.
SELECT lego_agg(1, 9223372036854775807, 65536);
SELECT lego_agg(1, 2000000000000000000, 65536) FROM generate_series(1, 3);

-- Sketches that do not go together, once not every count is exact.
CREATE TABLE crowded AS SELECT lego_agg(g, 65536) AS sketch, lego_top_agg(g, 65536) AS top, lego_agg(g, 100000) AS other
    FROM generate_series(1, 40000) g;
SELECT sketch + top FROM crowded;
SELECT top - top FROM s;
SELECT sketch - top FROM s;
SELECT lego_fold(sketch, 0) FROM s;
SELECT lego_fold(sketch, 246) FROM s;
SELECT lego_fold(sketch, 1::bigint << 40) FROM s;
SELECT lego_fold(top, 5) FROM s;
SELECT lego_fold_within(sketch, -1) FROM s;
SELECT lego_fold_within(sketch, 4095) FROM s;
SELECT lego_fold_within(lego_empty(65536, 0, 'paper'), 8192); -- one brick is larger
SELECT sketch + other FROM crowded;
SELECT s.sketch + other FROM s, crowded; -- which go together the other way round
SELECT lego_total(other + s.sketch) FROM s, crowded;
SELECT sketch - other FROM crowded;
SELECT lego_fold(a, 66) + lego_fold(a, 44) FROM (SELECT lego_agg(g, 34200) AS a -- of 132 blocks: of 66 and 44, 22 are common
    FROM generate_series(1, 40000) g) t;
SELECT lego_merge_agg(x) FROM (SELECT lego_agg(g, b) FROM unnest('{65536, 100000}'::int[]) b,
    generate_series(1, 40000) g GROUP BY b ORDER BY b) t(x);
SELECT sketch + lego_empty(65536, 1, 'compact') FROM s;
SELECT sketch + lego_empty(65536, 0, 'paper') FROM s;
SELECT lego_merge_agg(x) FROM (SELECT sketch FROM crowded UNION ALL SELECT top FROM crowded) t(x);
SELECT lego_merge_agg(x) FROM (SELECT lego_top_agg(g, b) FROM unnest('{65536, 40000}'::int[]) b,
    generate_series(1, 40000) g GROUP BY b ORDER BY b) t(x);

-- Questions that are not meant like that.
SELECT lego_estimate(sketch, 1, 1) FROM s;
SELECT lego_estimate(sketch, '1'::text, -0.1) FROM s;
SELECT lego_estimate(sketch, '\x0100000000000000'::bytea, 'NaN') FROM s;
SELECT lego_bounds(top, 1, 1.1) FROM s;
SELECT lego_estimates(sketch, '{1, 2}'::bigint[], 'infinity') FROM s;
SELECT lego_estimates(sketch, '{}'::text[], 2) FROM s;
SELECT lego_estimate(lego_empty(65536, 0, 'paper'), 1, 0.5);
SELECT lego_estimates(lego_empty(65536, 0, 'paper'), '{a}'::text[], absent => 0.1);
SELECT lego_estimate(lego_empty(65536, 0, 'paper'), 1, 0);

-- The most frequent items.
SELECT lego_top(sketch) FROM s;
SELECT lego_top(top, -1) FROM s;
SELECT lego_top_int(lego_top_agg('three'::text, 65536));
SELECT lego_top_text(lego_top_agg('\xff'::bytea, 65536));

-- What is part of an aggregate is not for SQL.
DO $$
DECLARE statement text;
BEGIN
    FOREACH statement IN ARRAY '{"lego_agg_row(NULL, 1, 65536)", "lego_agg_final(NULL)", "lego_agg_deserial(''x'', NULL)",
        "lego_agg_combine(NULL, NULL)", "lego_agg_final(''x''::internal)", "lego_moving_undo(NULL, 1)"}'::text[] LOOP
        BEGIN
            EXECUTE 'SELECT ' || statement;
            RAISE WARNING 'taken: %', statement;
        EXCEPTION WHEN undefined_function OR feature_not_supported OR cannot_coerce THEN NULL; -- as the version has it
        END;
    END LOOP;
END $$;

-- Nothing of that was left behind.
SELECT count(*) FROM s WHERE sketch IS NOT NULL;
DROP TABLE s, crowded;
