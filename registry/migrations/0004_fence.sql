-- The fence of a checkpoint: called last in the transaction of every write of a run.

-- SHARE, not KEY SHARE: it has to wait for whoever is raising the epoch, and make them wait
-- until the write is committed. A thread that is gone has no epoch and lets nothing pass.
CREATE FUNCTION fence(of_thread uuid, of_epoch bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    now_at bigint;
BEGIN
    SELECT epoch INTO now_at FROM threads WHERE thread_id = of_thread FOR SHARE;
    IF now_at IS DISTINCT FROM of_epoch THEN
        RAISE EXCEPTION 'epoch % of thread % is over', of_epoch, of_thread
            USING ERRCODE = 'FE001', DETAIL = format('it is at %s', coalesce(now_at::text, 'none'));
    END IF;
END
$$;
