-- The extension as a whole.
CREATE TABLE kept AS SELECT lego_agg(g % 100, 65536) AS sketch FROM generate_series(1, 1000) g;
CREATE VIEW asked AS SELECT lego_estimate(sketch, 5) AS five, lego_total(sketch) AS total FROM kept;
CREATE INDEX ON kept USING hash (sketch);

-- Everything has a comment, but what is only part of something else; all is immutable
-- and safe in parallel, but what makes new sketches: their secret seed may change.
SELECT p.oid::regprocedure FROM pg_depend d JOIN pg_proc p ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
    JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
    WHERE extname = 'legosketch' AND obj_description(p.oid, 'pg_proc') IS NULL
    AND proname !~ '^legosketch_(in|out|recv|send|eq|ne|hash|secrets_changed)|^lego_.*(agg|moving|merge)_(row|undo|final|serial|deserial|combine)$'
    ORDER BY 1;
SELECT proname, provolatile, proparallel, count(*) FROM pg_depend d JOIN pg_proc p ON d.objid = p.oid
    AND d.classid = 'pg_proc'::regclass JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
    WHERE extname = 'legosketch' AND (proparallel <> 's' OR provolatile <> 'i') AND prorettype <> 'trigger'::regtype
    GROUP BY 1, 2, 3 ORDER BY 1;

-- It can be in any schema, and moved; it goes as a whole.
CREATE SCHEMA elsewhere;
ALTER EXTENSION legosketch SET SCHEMA elsewhere;
SELECT * FROM asked;
SELECT elsewhere.lego_estimate(elsewhere.lego_agg('a'::text, 65536), 'a');
DROP EXTENSION legosketch;
DROP EXTENSION legosketch CASCADE;
SELECT * FROM asked;
DROP TABLE kept;
DROP SCHEMA elsewhere;
CREATE EXTENSION legosketch;
