! `use mpi_f08`: handles and statuses as types, optional ierror, subarrays of a matrix, nonblocking access.
program fortran_2008
  use mpi_f08
  implicit none
  type(MPI_File) :: fh
  type(MPI_Status) :: status
  type(MPI_Request) :: request
  type(MPI_Datatype) :: filetype
  integer :: rank, ranks, n, i, code, class
  integer :: columns(4, 6), back(4, 6)
  integer(kind=MPI_OFFSET_KIND) :: bytes, position
  character(len=512) :: directory

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call get_command_argument(1, directory)
  columns = reshape([(1000 * rank + i, i = 1, 24)], [4, 6])
  back = 0
  call MPI_File_open(MPI_COMM_WORLD, trim(directory)//'/fortran_2008', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, fh)
  call MPI_Type_create_subarray(2, [4 * ranks, 6], [4, 6], [4 * rank, 0], MPI_ORDER_FORTRAN, MPI_INTEGER, filetype)
  call MPI_Type_commit(filetype)
  call MPI_File_set_view(fh, 0_MPI_OFFSET_KIND, MPI_INTEGER, filetype, 'native', MPI_INFO_NULL)
  call MPI_File_write_all(fh, columns, 24, MPI_INTEGER, status)
  call MPI_Get_count(status, MPI_INTEGER, n)
  call say('write_all wrote', n)
  call MPI_File_iread_at(fh, 0_MPI_OFFSET_KIND, back, 24, MPI_INTEGER, request)
  call MPI_Wait(request, status)
  call MPI_Get_count(status, MPI_INTEGER, n)
  call say('iread_at read', n)
  call say('the same', merge(1, 0, all(back == columns)))
  call MPI_File_get_byte_offset(fh, 5_MPI_OFFSET_KIND, bytes)
  call say('byte offset of 5', int(bytes))
  call MPI_File_get_position(fh, position)
  call say('pointer', int(position))
  call MPI_Type_free(filetype)
  call MPI_File_close(fh)
  call say('null', merge(1, 0, fh == MPI_FILE_NULL))
  call MPI_File_delete(trim(directory)//'/missing', MPI_INFO_NULL, code)
  call MPI_Error_class(code, class)
  call say('no such file', merge(1, 0, class == MPI_ERR_NO_SUCH_FILE))
  call MPI_Finalize()

contains

  subroutine say(words, number)
    character(len=*), intent(in) :: words
    integer, intent(in) :: number
    integer :: every(0:63), j
    call MPI_Gather(number, 1, MPI_INTEGER, every, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    if (rank /= 0) return
    do j = 0, ranks - 1
      print '(a,i0,3a,i0)', 'rank ', j, ': ', words, ' ', every(j)
    end do
  end subroutine say
end program fortran_2008
