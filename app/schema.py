"""The whole schema of a database: our migrations, then the checkpoint saver's own."""

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

from registry.migrate import migrate


async def prepare_schema(url: str) -> list[str]:
    """Brings the database up to date; names of the migrations it applied.

    The saver's set-up runs under the same lock as the migrations, outside any transaction,
    since it builds indexes concurrently.
    """

    async def saver() -> None:
        async with AsyncPostgresSaver.from_conn_string(url) as made:
            await made.setup()

    return await migrate(url, also=saver)
